-- acpls for Neovim 0.11 and newer, without a plugin. Copy this file to
-- ~/.config/nvim/lsp/acpls.lua and put vim.lsp.enable('acpls') into your init.lua.
-- It attaches to every file, since an agent can be asked about any.

-- Agents change files on disk while they are open here, and the server then brings the buffer
-- in step. A buffer that holds what its file holds needs no question about which to keep. One
-- with changes of yours keeps them, and a question that takes your next key would be in the way:
-- Neovim asks before it writes over a file that has changed.
local function same_as_file(buffer)
  local name = vim.api.nvim_buf_get_name(buffer)
  local stat = vim.uv.fs_stat(name)
  if not stat or stat.size > 1024 * 1024 then
    return false
  end
  local file = io.open(name, 'rb')
  if not file then
    return false
  end
  local held = file:read('*a')
  file:close()
  local ends = ({ unix = '\n', dos = '\r\n', mac = '\r' })[vim.bo[buffer].fileformat]
  local text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, true), ends)
  text = (vim.bo[buffer].bomb and '\u{feff}' or '') .. text
  text = text .. (vim.bo[buffer].endofline and ends or '')
  local encoding = vim.bo[buffer].fileencoding
  local is_utf8 = encoding == '' or encoding == 'utf-8'
  return held == (is_utf8 and text or vim.iconv(text, 'utf-8', encoding))
end

local function settle(buffer)
  if vim.api.nvim_buf_is_loaded(buffer) and same_as_file(buffer) then
    vim.bo[buffer].modified = false
    vim.cmd.checktime(buffer)
  end
end

-- Of an edit that was made for an older text Neovim says that it was applied, and prints a line.
-- While it asks whether to write over a file, an edit would cost lines at the end of that file.
local function apply_edit(err, params, ctx)
  if vim.api.nvim_get_mode().mode == 'r?' then
    return { applied = false, failureReason = 'a question is open' }
  end
  for _, change in ipairs(params.edit.documentChanges or {}) do
    local document = change.textDocument
    local buffer = document and document.version and vim.uri_to_bufnr(document.uri)
    if buffer and vim.lsp.util.buf_versions[buffer] > document.version then
      return { applied = false, failureReason = 'the document has changed' }
    end
  end
  return vim.lsp.handlers['workspace/applyEdit'](err, params, ctx)
end

return {
  cmd = { 'acpls', 'serve' },
  root_markers = { '.git' },
  -- Settings go here, for example the agent to use:
  -- init_options = { agents = { claude = { command = 'claude-agent-acp' } } },
  handlers = { ['workspace/applyEdit'] = apply_edit },
  on_attach = function(client, buffer)
    -- By itself Neovim shows a sign and no word of what it means.
    vim.diagnostic.config({ virtual_text = true }, vim.lsp.diagnostic.get_namespace(client.id))
    -- It is attached again when a file is read again.
    local group = vim.api.nvim_create_augroup('acpls.' .. buffer, {})
    vim.api.nvim_create_autocmd('FileChangedShell', {
      group = group,
      buffer = buffer,
      callback = function()
        local gone = vim.v.fcs_reason == 'deleted'
        if gone or (vim.bo[buffer].modified and not same_as_file(buffer)) then
          vim.v.fcs_choice = ''
          local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buffer), ':.')
          local what = gone and ' is not on disk any more; its text is kept here'
            or ' has changed on disk; your unsaved text is kept'
          vim.api.nvim_echo({ { name .. what, 'WarningMsg' } }, true, {})
        else
          vim.v.fcs_choice = 'reload'
        end
      end,
    })
    vim.api.nvim_create_autocmd('LspNotify', {
      group = group,
      buffer = buffer,
      callback = function(event)
        if event.data.method == 'textDocument/didChange' then
          vim.defer_fn(function()
            settle(buffer)
          end, 600)
        end
      end,
    })
    -- Whoever saves sooner than that is not asked either.
    vim.api.nvim_create_autocmd('BufWritePre', {
      group = group,
      buffer = buffer,
      callback = function()
        settle(buffer)
      end,
    })
  end,
}

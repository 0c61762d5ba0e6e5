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

-- Where the agent is when it is followed: one window of its own, made once and used again, so
-- that no windows pile up and the one you are in is left alone. By itself Neovim would make a
-- window for each file, and move the cursor in yours where that shows the file.
local preview
local function show_document(err, params, ctx)
  if params.external or params.takeFocus then
    return vim.lsp.handlers['window/showDocument'](err, params, ctx)
  end
  local buffer = vim.uri_to_bufnr(params.uri)
  if not vim.api.nvim_buf_is_loaded(buffer) then
    -- A question about a swap file would take your next key.
    local short = vim.o.shortmess
    vim.opt.shortmess:append('A')
    local done = pcall(vim.fn.bufload, buffer)
    vim.o.shortmess = short
    if not done then
      return { success = false }
    end
  end
  local here = vim.api.nvim_get_current_win()
  local is_there = preview and vim.api.nvim_win_is_valid(preview) and preview ~= here
    and vim.api.nvim_win_get_tabpage(preview) == vim.api.nvim_get_current_tabpage()
  if is_there then
    -- Whoever has put something else there wants to keep it.
    local shown = vim.w[preview].acpls_shows
    is_there = shown == nil or shown == vim.api.nvim_win_get_buf(preview)
  end
  if is_there then
    local before = vim.api.nvim_win_get_buf(preview)
    vim.api.nvim_win_set_buf(preview, buffer)
    -- What was only looked at goes, but for one that has changes.
    if before ~= buffer and not vim.bo[before].buflisted and #vim.fn.win_findbuf(before) == 0 then
      pcall(vim.api.nvim_buf_delete, before, {})
    end
  else
    local made, window = pcall(vim.api.nvim_open_win, buffer, false, { split = 'above', win = here })
    if not made then
      return { success = false }
    end
    preview = window
    -- Who goes there has the file open like any other.
    vim.api.nvim_create_autocmd('WinEnter', {
      callback = function()
        if vim.api.nvim_get_current_win() == window then
          vim.bo.buflisted = true
        end
        return not vim.api.nvim_win_is_valid(window)
      end,
    })
    -- To close it is to say that one wants to be left alone for now.
    vim.api.nvim_create_autocmd('WinClosed', {
      pattern = tostring(window),
      once = true,
      callback = function()
        local client = vim.lsp.get_client_by_id(ctx.client_id)
        if client then
          client:request('workspace/executeCommand', { command = 'acpls.follow.pause' }, function() end)
        end
      end,
    })
  end
  vim.w[preview].acpls_shows = buffer
  if params.selection then
    local last = vim.api.nvim_buf_line_count(buffer)
    local line = math.min(params.selection.start.line + 1, last)
    vim.api.nvim_win_set_cursor(preview, { line, 0 })
    vim.api.nvim_win_call(preview, function()
      vim.cmd('normal! zvzz')
    end)
  end
  return { success = true }
end

return {
  cmd = { 'acpls', 'serve' },
  root_markers = { '.git' },
  -- Settings go here, for example the agent to use:
  -- agents = { claude = { command = 'claude-agent-acp' } }
  init_options = { client = { gentleShow = true } },
  handlers = {
    ['workspace/applyEdit'] = apply_edit,
    ['window/showDocument'] = show_document,
  },
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

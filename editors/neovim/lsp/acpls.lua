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
  return held == text .. (vim.bo[buffer].endofline and ends or '')
end

local function settle(buffer)
  if vim.api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].modified and same_as_file(buffer) then
    vim.bo[buffer].modified = false
    vim.cmd.checktime(buffer)
  end
end

return {
  cmd = { 'acpls', 'serve' },
  root_markers = { '.git' },
  -- Settings go here, for example the agent to use:
  -- init_options = { agents = { claude = { command = 'claude-agent-acp' } } },
  on_attach = function(_, buffer)
    vim.api.nvim_create_autocmd('FileChangedShell', {
      buffer = buffer,
      callback = function()
        if vim.v.fcs_reason == 'deleted' then
          vim.v.fcs_choice = 'ask'
        elseif vim.bo[buffer].modified and not same_as_file(buffer) then
          vim.v.fcs_choice = ''
          local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buffer), ':.')
          local text = name .. ' has changed on disk; your unsaved text is kept'
          vim.api.nvim_echo({ { text, 'WarningMsg' } }, true, {})
        else
          vim.v.fcs_choice = 'reload'
        end
      end,
    })
    vim.api.nvim_create_autocmd('LspNotify', {
      buffer = buffer,
      callback = function(event)
        if event.data.method == 'textDocument/didChange' then
          vim.defer_fn(function()
            settle(buffer)
          end, 600)
        end
      end,
    })
  end,
}

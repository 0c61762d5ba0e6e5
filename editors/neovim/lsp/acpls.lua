-- acpls for Neovim 0.11 and newer, without a plugin. Copy this file to
-- ~/.config/nvim/lsp/acpls.lua and put vim.lsp.enable('acpls') into your init.lua.
-- It attaches to every file, since an agent can be asked about any.
return {
  cmd = { 'acpls', 'serve' },
  root_markers = { '.git' },
  -- Settings go here, for example the agent to use:
  -- init_options = { agents = { claude = { command = 'claude-agent-acp' } } },
}

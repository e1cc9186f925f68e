import type { Page } from '@playwright/test';

export function trustOf(page: Page, runCommand: (title: string) => Promise<void>) {
  const restricted = page.locator('[id="status.workspaceTrust"]');
  return {
    restrictedMode: async (): Promise<void> => {
      await restricted.waitFor();
    },

    /** Trusts the workspace in the Workspace Trust editor, and closes it. */
    trustWorkspace: async (): Promise<void> => {
      await restricted.waitFor();
      await runCommand('Workspaces: Manage Workspace Trust');
      const editor = page.locator('.workspace-trust-editor');
      await editor.locator('.monaco-button').getByText('Trust', { exact: true }).click();
      await restricted.waitFor({ state: 'hidden' });
      await page
        .locator('.tab.active', { hasText: 'Workspace Trust' })
        .locator('.tab-actions .action-label')
        .click();
      await editor.waitFor({ state: 'hidden' });
    },
  };
}

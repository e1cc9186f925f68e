import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import * as vscode from 'vscode';
import { extensionId } from '../../../src/editor/runs/runLink.ts';
import { watchMessages } from '../dialogs.ts';
import { inRestrictedMode } from '../restrictedMode.ts';

const manifest = vscode.extensions.getExtension(extensionId)!.packageJSON as {
  contributes: { commands: { command: string; enablement?: string }[] };
};

describe('in Restricted Mode', () => {
  it('F84 commands that menus hide there do nothing when called by ID', async () => {
    const disabled = manifest.contributes.commands
      .filter(({ enablement = '' }) => enablement.includes('isWorkspaceTrusted'))
      .map(({ command }) => command);
    for (const command of ['startAssessment', 'saveArchive', 'signIn'])
      assert(disabled.includes(`whitebox.${command}`), command);
    const refusedFor = async (command: string): Promise<string[]> => {
      const messages = watchMessages();
      await inRestrictedMode(() =>
        vscode.commands.executeCommand(command, vscode.workspace.workspaceFolders?.[0]?.uri),
      );
      return messages.shown.map(({ text }) => text);
    };
    for (const command of disabled)
      assert.deepEqual(
        await refusedFor(command),
        ['This isn’t available in Restricted Mode. To use it, trust this workspace.'],
        command,
      );
  });
});

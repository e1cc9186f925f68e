import assert from 'node:assert/strict';
import { describe, it } from 'mocha';
import * as vscode from 'vscode';
import { extensionId } from '../../../../src/editor/runs/runLink.ts';

describe('the extension host', () => {
  it('is the oldest VS Code that the manifest admits, or a newer one', () => {
    const extension = vscode.extensions.getExtension(extensionId);
    const { engines } = extension?.packageJSON as { engines: { vscode: string } };
    const oldest = engines.vscode.replace('^', '').split('.').map(Number);
    const running = vscode.version.split('.').map(Number);
    assert.ok(
      running[0] === oldest[0] && running[1]! >= oldest[1]!,
      `${vscode.version} does not satisfy ${engines.vscode}`,
    );
  });
});

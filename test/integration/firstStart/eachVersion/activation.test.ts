import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after, before, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { extensionId } from '../../../../src/editor/runs/runLink.ts';
import { eventually, untilEqual } from '../../../host/workbench/eventually.ts';
import { type ActivationWatch, activationWatch } from '../../runner/activationWatch.ts';

const extension = vscode.extensions.getExtension(extensionId)!;
const bundle = (name: string): string => path.join(extension.extensionPath, 'dist', name);
// The host's require cache shows which files were loaded.
const hostRequire = createRequire(bundle('bootstrap.cjs'));

// The first file of its window: the main part is not loaded yet.
describe('activation without runs', () => {
  let watch: ActivationWatch;

  before(async () => {
    watch = await activationWatch();
    await extension.activate();
  });

  after(() => watch.timers.dispose());

  it('registers every command of the manifest', async () => {
    const { contributes } = extension.packageJSON as { contributes: { commands: { command: string }[] } };
    const registered = new Set(await vscode.commands.getCommands(true));
    const missing = contributes.commands.filter(({ command }) => !registered.has(command));
    assert.deepEqual(missing, []);
  });

  it('loads the bootstrap and not the main part', () => {
    assert.notEqual(hostRequire.cache[bundle('bootstrap.cjs')], undefined);
    assert.equal(hostRequire.cache[bundle('main.cjs')], undefined);
  });

  it('loads the main part when a target file is opened, and shows its lenses', async () => {
    const folder = vscode.workspace.workspaceFolders![0]!.uri;
    const uri = vscode.Uri.joinPath(folder, 'opened.blackbox.json');
    await vscode.workspace.fs.writeFile(
      uri,
      Buffer.from('{ "target_urls": ["https://staging.example.com/"] }'),
    );
    try {
      await vscode.window.showTextDocument(uri);
      await eventually(
        async () => vscode.commands.executeCommand<unknown[]>('vscode.executeCodeLensProvider', uri),
        ({ length }) => length === 2,
      );
      assert.notEqual(hostRequire.cache[bundle('main.cjs')], undefined);
    } finally {
      await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
      await vscode.workspace.fs.delete(uri);
    }
  });

  it('F88 leaves the shared HTTP dispatchers of other extensions unchanged', async () => {
    await vscode.commands.executeCommand('whitebox.refreshRuns');
    assert.notEqual(hostRequire.cache[bundle('main.cjs')], undefined);
    assert.ok(watch.slots.size > 0, 'there are some to look at');
    for (const [slot, dispatcher] of watch.slots)
      assert.equal((globalThis as Record<symbol, unknown>)[slot], dispatcher, String(slot));
  });

  it('holds no timer while no run is live, with the main part loaded', async () => {
    await vscode.commands.executeCommand('whitebox.refreshRuns');
    assert.notEqual(hostRequire.cache[bundle('main.cjs')], undefined);
    await untilEqual(() => watch.timers.held(), []);
    assert.notDeepEqual(watch.timers.seen, [], 'those that ended were seen');
  });
});

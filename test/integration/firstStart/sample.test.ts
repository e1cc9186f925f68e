import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, it } from 'mocha';
import * as vscode from 'vscode';
import { afterTest, messages, recordCommand } from '../dialogs.ts';
import { inRestrictedMode } from '../restrictedMode.ts';
import { newRuns, storage } from '../runsInStorage.ts';
import { call } from '../signedIn.ts';

describe('the sample', () => {
  it('F84 opens in Restricted Mode in a new window, with changes kept until the user starts over', async () => {
    const samples = path.join(storage, 'samples');
    afterTest(() => rm(samples, { recursive: true }));
    const { calls } = recordCommand('vscode.openFolder');
    const open = () => inRestrictedMode(() => call('openSample'));
    await open();
    const [[folder, options] = []] = calls;
    assert.ok(folder instanceof vscode.Uri && folder.fsPath.startsWith(samples));
    assert.deepEqual(options, { forceNewWindow: true });
    assert.equal(messages.shown.length, 0);
    const file = path.join(folder.fsPath, 'src/orders.js');
    const original = await readFile(file, 'utf8');
    await writeFile(file, 'changed');
    for (const [pressed, content, opened] of [
      [undefined, 'changed', 1],
      ['Open Sample', 'changed', 2],
      ['Start Over', original, 3],
    ] as const) {
      messages.press = () => pressed;
      await open();
      assert.deepEqual(messages.shown.at(-1)?.buttons, ['Open Sample', 'Start Over']);
      assert.equal(await readFile(file, 'utf8'), content);
      assert.deepEqual([calls.length, (await newRuns()).length], [opened, 2]);
    }
  });
});

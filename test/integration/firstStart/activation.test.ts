import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after, before, describe, it } from 'mocha';
import * as vscode from 'vscode';
import { activateMeasured } from '../activationCost.ts';
import { watchTimers } from '../heldTimers.ts';
import { report, skipBecause } from '../events.ts';

const extension = vscode.extensions.getExtension('whitebox.whitebox-assessment')!;
const bundle = (name: string): string => path.join(extension.extensionPath, 'dist', name);
// The cache of the host's own require tells which files were loaded.
const hostRequire = createRequire(bundle('bootstrap.cjs'));

type Slots = ReadonlyMap<symbol, unknown>;

/** The dispatchers that Node's fetch and every copy of undici in the process share. */
function dispatchers(): Slots {
  const slots = Object.getOwnPropertySymbols(globalThis).filter(({ description }) =>
    description?.startsWith('undici.'),
  );
  return new Map(slots.map((slot) => [slot, (globalThis as Record<symbol, unknown>)[slot]]));
}

function assertSame(now: Slots, before: Slots): void {
  const changed = [...now].filter(([slot, dispatcher]) => before.get(slot) !== dispatcher);
  assert.deepEqual(
    changed.map(([slot]) => slot),
    [],
  );
}

// The first file of its window: nothing has asked for the main part yet.
describe('activation without runs', () => {
  let beforeActivation: Slots;
  let wasActive: boolean;
  let timers: ReturnType<typeof watchTimers>;

  before(async () => {
    wasActive = extension.isActive;
    beforeActivation = dispatchers();
    timers = watchTimers([bundle('bootstrap.cjs'), bundle('main.cjs')]);
    const ms = await activateMeasured(extension);
    report({ kind: 'figure', text: `activation: ${ms.toFixed(1)} ms of script` });
  });

  after(() => timers.dispose());

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

  it('F88 activation and the main part leave the dispatchers that all extensions share as they were', async function () {
    if (wasActive) skipBecause(this, 'VS Code activated the extension before its tests could look');
    await vscode.commands.executeCommand('whitebox.refreshRuns');
    assert.notEqual(hostRequire.cache[bundle('main.cjs')], undefined);
    assertSame(dispatchers(), beforeActivation);
  });

  it('holds no timer while no run is live, with the main part loaded', async () => {
    await vscode.commands.executeCommand('whitebox.refreshRuns');
    assert.notEqual(hostRequire.cache[bundle('main.cjs')], undefined);
    assert.deepEqual(await timers.held(), []);
  });

  it('F88 no bundle contains undici', () => {
    const bundles = readdirSync(bundle('')).filter((name) => name.endsWith('.cjs'));
    assert.ok(bundles.length >= 5, String(bundles));
    for (const name of bundles) assert.doesNotMatch(readFileSync(bundle(name), 'utf8'), /undici/iu, name);
  });
});

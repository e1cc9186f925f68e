// Runs in the extension host instead of tests: measures the activation just done.
import { appendFileSync } from 'node:fs';
import type { Profiler } from 'node:inspector/promises';
import * as vscode from 'vscode';
import { extensionId } from '../../../src/editor/runs/runLink.ts';
import { activationWatch } from '../../integration/runner/activationWatch.ts';

/** VS Code calls this when the window is there. */
export async function run(): Promise<void> {
  const { stopProfile } = await activationWatch();
  await vscode.extensions.getExtension(extensionId)!.activate();
  const ms = scriptMs(await stopProfile!(), '/dist/bootstrap.cjs');
  appendFileSync(process.env['ACTIVATION_TIMES'] ?? '', `${ms}\n`);
}

/** Counts how long a file was on the stack: its frames, and what they called. */
function scriptMs({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile, file: string): number {
  const inFile = new Set<number>();
  // Callers are listed before callees.
  for (const { id, callFrame, children } of nodes) {
    if (!callFrame.url.endsWith(file) && !inFile.has(id)) continue;
    for (const each of [id, ...(children ?? [])]) inFile.add(each);
  }
  const micros = timeDeltas.filter((_, index) => inFile.has(samples[index] ?? NaN));
  return micros.reduce((sum, each) => sum + each, 0) / 1000;
}

// Runs in the extension host, in place of tests: notes what one activation costs.
import { appendFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { activateMeasured } from '../integration/activationCost.ts';

/** Called by VS Code when the window is there. */
export async function run(): Promise<void> {
  const extension = vscode.extensions.getExtension('whitebox.whitebox-assessment')!;
  appendFileSync(process.env['ACTIVATION_TIMES'] ?? '', `${await activateMeasured(extension)}\n`);
}

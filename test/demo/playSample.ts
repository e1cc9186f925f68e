import type { Stage } from '../e2e/stage.ts';
import { eventually } from '../host/workbench/eventually.ts';
import type { Audience } from './playJob.ts';

/**
 * Opens the sample in a new window, without an account and in Restricted Mode, and closes all
 * windows.
 */
export async function playSample(stage: Stage, { step, picture }: Audience): Promise<void> {
  step('Explore the sample findings, without signing in');
  const first = await stage.openWindow();
  await first.restrictedMode();
  const workbench = await stage.openedBy(() => first.runCommand('Whitebox: Explore Sample Findings…'));
  await eventually(workbench.problems, (rows) => rows.length > 0);
  await workbench.openView('Whitebox Assessment');
  await workbench.expandAll('Findings');
  await picture('sample');
  await stage.closeWindows();
}

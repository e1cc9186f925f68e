import { type Stage, signIn } from './e2e/stage.ts';
import { eventually } from './host/workbench/eventually.ts';

/** Who watches the job being played. */
export interface Audience {
  /** Told what has happened. */
  readonly step: (text: string) => void;
  /** Called when the window shows something worth a picture; the name says what. */
  readonly picture: (name: string) => Promise<unknown>;
}

/** Plays the whole job as a person would, from sign-in to the details of a finding, in a window of its own; a run has to end by itself within `runMs`. */
export async function playJob(stage: Stage, runMs: number, { step, picture }: Audience): Promise<void> {
  const workbench = await stage.openWindow();
  await workbench.trustWorkspace();
  step('VS Code is open on the sample workspace, the extension is installed');
  await workbench.runCommand('Whitebox: Sign In…');
  await workbench.currentQuickInput();
  await picture('signIn');
  await workbench.dismissQuickInput();
  await signIn(workbench, stage.service);
  await workbench.notification(/Signed in to/);
  await workbench.dismissNotifications();
  step(`Signed in to ${stage.service.baseUrl}`);
  await workbench.runCommand('Whitebox: Preview Files to Upload');
  await workbench.expandAll('Upload Preview');
  await picture('choose');
  step('Previewed what would be uploaded, and what would not');
  await workbench.runCommand('Whitebox: Start Assessment…');
  const { message } = await workbench.dialogText();
  await picture('start');
  step(`Asked: ${message}`);
  await workbench.dialogButton('Upload and Start');
  await workbench.openView('Whitebox Assessment');
  await eventually(
    () => workbench.treeRows('Runs'),
    (rows) => rows.some(({ description }) => description.startsWith('running')),
  );
  await workbench.expandAll('Runs');
  await picture('close');
  step('Uploaded and running; the status bar shows it');
  await workbench.notification(/The assessment of shop has finished/, runMs + 60_000);
  step('Finished, one notification');
  await workbench.dismissNotifications();
  await showResults(stage, { step, picture });
}

async function showResults(stage: Stage, { step, picture }: Audience): Promise<void> {
  const workbench = stage.workbench();
  const problems = await eventually(workbench.problems, (rows) => rows.length > 0);
  console.log();
  console.table(
    problems.map(({ severity, file, line, code, message }) => ({ severity, file, line, code, message })),
  );
  await workbench.openView('Whitebox Assessment');
  await workbench.expandAll('Findings');
  const worst = problems.find(({ message }) => message.startsWith('Critical'));
  if (worst === undefined) throw new Error('There is no critical problem');
  await workbench.openProblem(worst.message);
  await eventually(workbench.editor, (editor) => editor.title === worst.file && editor.line === worst.line);
  step(`Jumped from Problems to ${worst.file}, line ${String(worst.line)}`);
  await workbench.page.locator('.squiggly-error').first().waitFor();
  await picture('triage');
  await workbench.runCommand('View: Toggle Panel Visibility');
  await workbench.runCommand('Whitebox: Show Details');
  const title = worst.message.replace(/^[^:]*: /, '').slice(0, 40);
  const details = await workbench.webviewFrame(title);
  await details.getByRole('heading', { level: 1 }).first().waitFor();
  await picture('fix');
  step('Opened the details of the finding beside the code');
  await workbench.runCommand('Whitebox: Open Report');
  const report = await workbench.webviewFrame('Report: shop');
  await report.getByRole('heading', { level: 1 }).first().waitFor();
  await picture('report');
  step('Opened the report');
}

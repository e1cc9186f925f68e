import type { Workbench } from '../host/workbench.ts';
import { eventually } from '../host/workbench/eventually.ts';
import { type Stage, signIn } from '../e2e/stage.ts';

export interface Audience {
  /** Receives a description of the next step. */
  readonly step: (text: string) => void;
  /** Called when the window is worth a screenshot; the name describes it. */
  readonly picture: (name: string) => Promise<unknown>;
  /** A text of the problem to show; a critical one by default. */
  readonly problem?: string;
  /** Called once a run has started; it may open another window. */
  readonly started?: () => Promise<void>;
  /** Called during the run; without it the run must end by itself. */
  readonly running?: () => Promise<void>;
}

/** Plays the whole job, from sign-in to the report, in a new window. */
export async function playJob(stage: Stage, audience: Audience): Promise<void> {
  await startRun(stage, audience);
  await audience.started?.();
  await watchRun(stage, audience);
  await showResults(stage, audience);
}

async function startRun(stage: Stage, { step, picture }: Audience): Promise<void> {
  step('Open VS Code on the sample workspace, with the extension installed');
  const workbench = await stage.openWindow();
  await workbench.trustWorkspace();
  await workbench.openFile('src/server.js');
  await picture('explorer');
  step(`Sign in to ${stage.service.baseUrl}`);
  await workbench.runCommand('Whitebox: Sign In…');
  await workbench.currentQuickInput();
  await picture('signIn');
  await workbench.dismissQuickInput();
  await signIn(workbench, stage.service);
  await workbench.notification(/Signed in to/);
  await workbench.dismissNotifications();
  step('Preview what would be uploaded, and what would not');
  await workbench.runCommand('Whitebox: Preview Files to Upload');
  await workbench.treeRows('Upload Preview');
  await picture('choose');
  step('Read the question before the upload, and agree');
  await picture('command');
  await workbench.runCommand('Whitebox: Start Assessment…');
  await workbench.dialogText();
  await picture('start');
  await workbench.dialogButton('Upload and Start');
  await untilRunning(workbench);
}

/** Opens the Runs view, and waits until it shows a run in progress. */
export async function untilRunning(workbench: Workbench): Promise<void> {
  await workbench.openView('Whitebox Assessment');
  await workbench.untilRow('Runs', ({ label }) => label.startsWith('Running'));
}

async function watchRun(stage: Stage, { step, picture, running }: Audience): Promise<void> {
  const workbench = stage.workbench();
  step('Watch the run until its one notification');
  await workbench.expandAll('Runs');
  await picture('close');
  await running?.();
  await workbench.notification(/The assessment of shop has finished/);
  await picture('ended');
  await workbench.dismissNotifications();
}

async function showResults(stage: Stage, { step, picture, problem = 'Critical: ' }: Audience): Promise<void> {
  const workbench = stage.workbench();
  step('Jump from Problems to the code of a finding');
  const problems = await eventually(workbench.problems, (rows) => rows.length > 0);
  await workbench.openView('Whitebox Assessment');
  await workbench.expandAll('Findings');
  const shown = problems.find(({ message }) => message.includes(problem));
  if (shown === undefined) throw new Error(`There is no problem with “${problem}”`);
  await workbench.openProblem(shown.message);
  await eventually(workbench.editor, (editor) => editor.title === shown.file && editor.line === shown.line);
  await workbench.page.locator('.squiggly-error').first().waitFor();
  await picture('triage');
  step('Open the details of the finding beside the code');
  await workbench.runCommand('View: Toggle Panel Visibility');
  await workbench.runCommand('Whitebox: Show Details');
  const title = shown.message.replace(/^[^:]*: /, '').slice(0, 40);
  const details = await workbench.webviewFrame(title);
  await details.getByRole('heading', { level: 1 }).first().waitFor();
  await picture('fix');
  step('Open the report');
  await workbench.runCommand('Whitebox: Open Report');
  const report = await workbench.webviewFrame('Report: shop');
  await report.getByRole('heading', { level: 1 }).first().waitFor();
  await picture('report');
}

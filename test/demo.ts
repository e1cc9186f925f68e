// `npm run demo`: a real VS Code on a vulnerable sample workspace, signed in to the assessment service on loopback.
// `npm run demo -- --headless [--out FOLDER]` plays the whole job by itself and exits 0 only if all of it happened.
import path from 'node:path';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { setStage, signedIn, signIn, type Stage } from './e2e/stage.ts';
import { eventually } from './host/workbench/eventually.ts';
import { screenshotFolder } from './host/workbench.ts';

const { values } = parseArgs({
  options: {
    headless: { type: 'boolean', default: false },
    out: { type: 'string', default: path.join(screenshotFolder, 'demo') },
    'run-seconds': { type: 'string', default: '20' },
  },
});
const runDurationMs = Number(values['run-seconds']) * 1000;

if (values.headless) await play(path.resolve(values.out));
else await stayOpen();

/** Opens VS Code for a person and waits for Ctrl+C. */
async function stayOpen(): Promise<void> {
  // A person's own browser has no secret of ours: the token comes from the token command, as short-lived ones do.
  const stage = await setStage({
    service: { runDurationMs },
    settings: signedIn,
  });
  console.log(`\nOpen  ${stage.server.urlFor({ folder: stage.folder })}`);
  console.log('Then: F1, "Whitebox: Start Assessment…". The service is', stage.service.baseUrl);
  console.log(`A run takes ${values['run-seconds']} seconds here. Ctrl+C ends it all.`);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  await stage.dispose();
}

/** Plays the whole job as a person would, from sign-in to the report. */
async function play(out: string): Promise<void> {
  const stage = await setStage({ service: { runDurationMs } });
  try {
    const workbench = await stage.openWindow();
    await workbench.trustWorkspace();
    step('VS Code is open on the sample workspace, the extension is installed');
    await signIn(workbench, stage.service);
    await workbench.notification(/Signed in to/);
    await workbench.dismissNotifications();
    step(`Signed in to ${stage.service.baseUrl}`);
    await workbench.runCommand('Whitebox: Preview Files to Upload');
    await workbench.expandAll('Upload Preview');
    await workbench.screenshot(path.join(out, 'preview.png'));
    step('Previewed what would be uploaded, and what would not');
    await workbench.runCommand('Whitebox: Start Assessment…');
    const { message } = await workbench.dialogText();
    await workbench.screenshot(path.join(out, 'confirm.png'));
    step(`Asked: ${message}`);
    await workbench.dialogButton('Upload and Start');
    await workbench.openView('Whitebox Assessment');
    await eventually(
      () => workbench.treeRows('Runs'),
      (rows) => rows.some(({ description }) => description.startsWith('running')),
    );
    await workbench.expandAll('Runs');
    await workbench.screenshot(path.join(out, 'running.png'));
    step('Uploaded and running; the status bar shows it');
    await workbench.notification(/The assessment of shop has finished/, runDurationMs + 60_000);
    step('Finished, one notification');
    await showResults(stage, out);
    console.log(`\nScreenshots: ${path.relative(process.cwd(), out)}`);
  } finally {
    await stage.dispose();
  }
}

async function showResults(stage: Stage, out: string): Promise<void> {
  const workbench = stage.workbench();
  await workbench.dismissNotifications();
  const problems = await eventually(workbench.problems, (rows) => rows.length > 0);
  console.log();
  console.table(
    problems.map(({ severity, file, line, code, message }) => ({ severity, file, line, code, message })),
  );
  await workbench.openView('Whitebox Assessment');
  await workbench.expandAll('Findings');
  const last = problems.at(-1);
  if (last === undefined) throw new Error('There are no problems');
  await workbench.openProblem(last.message);
  await eventually(workbench.editor, (editor) => editor.title === last.file && editor.line === last.line);
  step(`Jumped from Problems to ${last.file}, line ${String(last.line)}`);
  await workbench.screenshot(path.join(out, 'problems.png'));
  await workbench.runCommand('View: Toggle Panel Visibility');
  await workbench.runCommand('Whitebox: Open Report');
  const report = await workbench.webviewFrame('Report: shop');
  await report.getByRole('heading', { level: 1 }).first().waitFor();
  await workbench.screenshot(path.join(out, 'report.png'));
  step('Opened the report');
}

function step(text: string): void {
  console.log(`✔ ${text}`);
}

// `npm run demo`: a real VS Code on a vulnerable sample workspace, signed in to the assessment
// service on loopback. `npm run demo -- --headless [--out FOLDER]` plays the whole job by itself
// and exits 0 only if all of it happened.
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { setStage, signedIn, type Stage } from '../e2e/stage.ts';
import { ownTemporary } from '../tools/ownTemporary.ts';
import { screenshotFolder } from '../host/workbench.ts';
import { playBlackbox } from './playBlackbox.ts';
import { type Audience, playJob } from './playJob.ts';
import { playSample } from './playSample.ts';

const { values } = parseArgs({
  options: {
    headless: { type: 'boolean', default: false },
    out: { type: 'string', default: path.join(screenshotFolder, 'demo') },
    'run-seconds': { type: 'string' },
  },
});
const runSeconds = Number(values['run-seconds'] ?? (values.headless ? 5 : 20));
const runDurationMs = runSeconds * 1000;
const removeTemporary = await ownTemporary();
let stage: Stage | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end(130));

try {
  if (values.headless) await play(path.resolve(values.out));
  else await stayOpen();
} finally {
  await end();
}

async function end(code?: number): Promise<never> {
  await stage?.dispose();
  await removeTemporary();
  process.exit(code ?? process.exitCode);
}

async function stayOpen(): Promise<void> {
  // A user's own browser has no secret of ours: the token comes from the token command, as
  // short-lived ones do.
  stage = await setStage({ application: true, service: { runDurationMs }, settings: signedIn });
  console.log(`\nOpen  ${stage.server.urlFor({ folder: stage.folder })}`);
  console.log('Then: F1, "Whitebox: Start Assessment…". The service is', stage.service.baseUrl);
  console.log(
    `You are signed in. A run takes ${String(runSeconds)} seconds here, and VS Code notices its end up to 15 seconds later. Ctrl+C ends it all.`,
  );
  await new Promise(() => undefined);
}

/** Plays the job; a failure is reported with its step and a screenshot. */
async function play(out: string): Promise<void> {
  await rm(out, { recursive: true, force: true });
  let doing = 'Start the assessment service and VS Code';
  try {
    stage = await setStage({ application: true, service: { runDurationMs } });
    const made = stage;
    const audience: Audience = {
      step: (text) => {
        console.log(`✔ ${doing}`);
        doing = text;
      },
      picture: (name) => made.workbench().screenshot(path.join(out, `${name}.png`)),
    };
    await playSample(made, audience);
    await playJob(made, audience);
    await playBlackbox(made, audience);
    console.log(`✔ ${doing}\n\nScreenshots: ${path.relative('', out)}`);
  } catch (error) {
    process.exitCode = 1;
    console.error(`✖ ${doing}`);
    const picture = stage?.hasWindow()
      ? await stage
          .workbench()
          .screenshot(path.join(out, 'failed.png'))
          .catch(() => undefined)
      : undefined;
    const [reason = ''] = (error as Error).message.split(/ Last reading:|\n/u);
    console.error(
      `The demo stopped in this step (${reason})` +
        (picture === undefined ? '.' : `; what VS Code showed then is in ${path.relative('', picture)}.`),
    );
  }
}

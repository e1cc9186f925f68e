// `npm run demo`: a real VS Code on a vulnerable sample workspace, signed in to the assessment service on loopback.
// `npm run demo -- --headless [--out FOLDER]` plays the whole job by itself and exits 0 only if all of it happened.
import path from 'node:path';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { setStage, signedIn } from './e2e/stage.ts';
import { screenshotFolder } from './host/workbench.ts';
import { playJob } from './playJob.ts';

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

async function play(out: string): Promise<void> {
  const stage = await setStage({ service: { runDurationMs } });
  try {
    await playJob(stage, runDurationMs, {
      step: (text) => {
        console.log(`✔ ${text}`);
      },
      picture: (name) => stage.workbench().screenshot(path.join(out, `${name}.png`)),
    });
    console.log(`\nScreenshots: ${path.relative(process.cwd(), out)}`);
  } finally {
    await stage.dispose();
  }
}

// `npm run screenshots`: plays the whole job in the light and in the dark theme and leaves the pictures that README and the walkthrough show.
import path from 'node:path';
import { setStage } from './e2e/stage.ts';
import { playJob } from './playJob.ts';

const folder = path.resolve(import.meta.dirname, '../media/screenshots');
const runDurationMs = 20_000;

for (const theme of ['Light', 'Dark']) {
  const stage = await setStage({
    service: { runDurationMs },
    settings: () => ({ 'workbench.colorTheme': `Default ${theme} Modern` }),
    // Small, so that the pictures can be read at the size that they are shown in.
    viewport: { width: 1000, height: 720 },
  });
  try {
    await playJob(stage, runDurationMs, {
      step: () => undefined,
      picture: (name) =>
        stage.workbench().screenshot(path.join(folder, `${name}-${theme.toLowerCase()}.png`)),
    });
  } finally {
    await stage.dispose();
  }
}

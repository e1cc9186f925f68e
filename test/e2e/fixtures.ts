import { test as base } from '@playwright/test';
import type { Workbench } from '../host/workbench.ts';
import type { AssessmentService } from '../service/assessmentService.ts';
import { setStage, type Stage, type StageOptions } from './stage.ts';

interface OfTest {
  readonly service: AssessmentService;
  /** The window that is open, or a new one. */
  readonly workbench: Workbench;
}

interface OfFile {
  readonly stageOptions: StageOptions;
  readonly stage: Stage;
}

/**
 * A test with a stage, which is set once for a file, as its `test.use({ stageOptions })` says: its tests tell one story in their order.
 * A file without that line would share its stage with others.
 */
export const test = base.extend<OfTest, OfFile>({
  stageOptions: [{}, { option: true, scope: 'worker' }],
  stage: [
    async ({ stageOptions }, use) => {
      const stage = await setStage(stageOptions);
      await use(stage);
      await stage.dispose();
    },
    { scope: 'worker', timeout: 120_000 },
  ],
  service: ({ stage }, use) => use(stage.service),
  workbench: async ({ stage }, use) => use(stage.hasWindow() ? stage.workbench() : await stage.openWindow()),
});

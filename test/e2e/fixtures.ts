import { test as base } from '@playwright/test';
import type { Workbench } from '../host/workbench.ts';
import type { AssessmentService } from '../service/assessmentService.ts';
import { setStage, type Stage, type StageOptions } from './stage.ts';

interface OfTest {
  readonly service: AssessmentService;
  readonly workbench: Workbench;
}

export interface OfFile {
  readonly windows: boolean;
  readonly stageOptions: StageOptions;
  readonly stage: Stage;
}

/**
 * The tests of a file share a stage, as set by `test.use({ stageOptions })`. They run in order and
 * build on each other.
 */
export const test = base.extend<OfTest, OfFile>({
  windows: [false, { option: true, scope: 'worker' }],
  stageOptions: [{}, { option: true, scope: 'worker' }],
  stage: [
    async ({ stageOptions, windows }, use) => {
      const stage = await setStage({ ...stageOptions, windows });
      await use(stage);
      await stage.dispose();
    },
    { scope: 'worker', timeout: 300_000 },
  ],
  service: ({ stage }, use) => use(stage.service),
  workbench: async ({ stage }, use) => use(stage.hasWindow() ? stage.workbench() : await stage.openWindow()),
});

import * as z from 'zod/mini';
import { notificationSchema } from '../api/schema.ts';
import { crawlLimitSchema, instructionsSchema, requestInput, strictSchemas } from './blackboxInput.ts';
import { toApplicationRequest, type Workflow } from './workflow.ts';

/** Discovers the features of a live web application (docs/api.md, sections 2.6 and 2.8). */
export const blackboxCrawl: Workflow = {
  id: 'blackbox-crawl',
  request: z.strictObject({
    input: z.strictObject({
      ...requestInput,
      credit_limit: z.optional(crawlLimitSchema),
      additional_instructions: z.optional(instructionsSchema),
      resume: z.optional(strictSchemas.crawlResume),
    }),
    notification: z.optional(notificationSchema),
  }),
  toRequest: toApplicationRequest,
  artifacts: { features: 'features.json' },
  continuations: ({ kind, artifacts }) => {
    const hasSucceeded = kind === 'SUCCESS';
    return new Map([
      ['assessPairs', !hasSucceeded ? 'notEligible' : artifacts.includes('features') || 'noFeatures'],
      ['crawlFurther', hasSucceeded || 'notEligible'],
    ] as const);
  },
};

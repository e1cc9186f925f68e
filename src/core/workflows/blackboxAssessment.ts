import * as z from 'zod/mini';
import { notificationSchema } from '../api/schema.ts';
import { crawlLimitSchema, requestInput, scanLimitSchema, strictSchemas } from './blackboxInput.ts';
import { creditLimitReached, toApplicationRequest, type Workflow } from './workflow.ts';

/** Tests a live web application for vulnerabilities (docs/api.md, sections 2.6 and 2.7). */
export const blackboxAssessment: Workflow = {
  id: 'blackbox-assessment',
  request: z.strictObject({
    input: z
      .strictObject({
        ...requestInput,
        scan_credit_limit: z.optional(scanLimitSchema),
        crawl_credit_limit: z.optional(crawlLimitSchema),
        resume: z.optional(strictSchemas.assessmentResume),
        pairs: z.optional(strictSchemas.pairs),
      })
      .check(z.refine(({ pairs, resume }) => pairs === undefined || resume !== undefined)),
    notification: z.optional(notificationSchema),
  }),
  toRequest: toApplicationRequest,
  artifacts: {
    report: 'report.md',
    findings: 'findings.json',
    features: 'features.json',
    scan_progress: 'scan_progress.json',
  },
  continuations: ({ kind, abortCode, artifacts }) => {
    const isEligible = kind === 'SUCCESS' || (kind === 'ABORTED' && abortCode === creditLimitReached);
    return new Map([
      ['assessPairs', !isEligible ? 'notEligible' : artifacts.includes('features') || 'noFeatures'],
      ['continueAssessment', isEligible || 'notEligible'],
    ] as const);
  },
};

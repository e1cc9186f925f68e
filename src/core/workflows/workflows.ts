import { blackboxAssessment } from './blackboxAssessment.ts';
import { blackboxCrawl } from './blackboxCrawl.ts';
import { whitebox } from './whitebox.ts';
import type { Workflow, WorkflowId } from './workflow.ts';

export const workflows: Readonly<Record<WorkflowId, Workflow>> = {
  'whitebox-assessment': whitebox,
  'blackbox-crawl': blackboxCrawl,
  'blackbox-assessment': blackboxAssessment,
};

import { closedObject, identifier, language, type JsonSchema } from '../apiSchemas.ts';
import { severities, type ReportLanguage, type Severity } from '../runs/reportText.ts';

export const perspectives = [
  'Injection',
  'XSS',
  'CSRF',
  'Authorization',
  'FileSystem',
  'BusinessLogic',
  'OpenRedirect',
  'SSRF',
  'Authentication',
  'Clickjacking',
  'CORS',
] as const;
export type Perspective = (typeof perspectives)[number];

export interface Credential {
  readonly id: string;
  readonly password: string;
  readonly role: string;
}

/** Both workflows take this (section 2.6). */
interface BlackboxInput {
  readonly language: ReportLanguage;
  readonly target_urls: readonly string[];
  readonly oos_urls?: readonly string[];
  readonly authentication?: { readonly credentials?: readonly Credential[] };
}

interface RunReference {
  readonly workflow_id: string;
  readonly workflow_run_id: string;
}

/** See section 2.8. */
export interface CrawlInput extends BlackboxInput {
  readonly credit_limit?: number;
  readonly resume?: RunReference;
}

export interface Pair {
  readonly feature_name: string;
  readonly perspective: Perspective;
}

/** See section 2.7. */
export interface AssessmentInput extends BlackboxInput {
  readonly scan_credit_limit?: number;
  readonly crawl_credit_limit?: number;
  readonly resume?:
    | { readonly kind: 'assess_crawled_features'; readonly assess_crawled_features: RunReference }
    | { readonly kind: 'continue_assessment'; readonly continue_assessment: RunReference };
  readonly pairs?: readonly (Pair & { readonly priority?: 'high' | 'medium' | 'low' })[];
}

const prose: JsonSchema = { type: 'string', minLength: 1, maxLength: 5000 };
const url: JsonSchema = { type: 'string', format: 'uri', maxLength: 5000 };
const list = (items: JsonSchema, minItems: number, maxItems: number): JsonSchema => ({
  type: 'array',
  items,
  minItems,
  maxItems,
});
const credits = (minimum: number): JsonSchema => ({ type: 'integer', minimum, maximum: 100_000 });

const credential = closedObject({
  id: identifier,
  password: { type: 'string', maxLength: 5000 },
  role: identifier,
});
const preference = closedObject({ kind: { enum: ['DO', 'DONT'] }, preference: prose });
const shared = {
  language,
  target_urls: list(url, 1, 100),
  oos_urls: list(url, 0, 100),
  authentication: closedObject({ credentials: list(credential, 1, 100), additional_instructions: prose }, []),
  preference: closedObject({ preferences: list(preference, 1, 100) }, []),
};
const required = ['language', 'target_urls'];

export const crawlInput = closedObject(
  {
    ...shared,
    credit_limit: credits(5),
    additional_instructions: prose,
    resume: closedObject({ workflow_id: { const: 'blackbox-crawl' }, workflow_run_id: identifier }),
  },
  required,
);

const runReference = closedObject({ workflow_id: identifier, workflow_run_id: identifier });
const resume = (kind: string) =>
  closedObject(
    { kind: { const: kind }, assess_crawled_features: runReference, continue_assessment: runReference },
    ['kind', kind],
  );
const pair = { feature_name: prose, perspective: { enum: perspectives } };

export const assessmentInput: JsonSchema = {
  ...closedObject(
    {
      ...shared,
      scan_credit_limit: credits(10),
      crawl_credit_limit: credits(5),
      resume: { anyOf: [resume('assess_crawled_features'), resume('continue_assessment')] },
      pairs: list(
        closedObject({ ...pair, priority: { enum: ['high', 'medium', 'low'] } }, Object.keys(pair)),
        0,
        10_000,
      ),
    },
    required,
  ),
  dependentRequired: { pairs: ['resume'] },
};

/** The shape of a feature is invented, except for its `name` (section 2.4). */
export interface Feature {
  readonly name: string;
  readonly description: string;
  readonly method: 'GET' | 'POST';
  /** The URL has no query. */
  readonly url: string;
  /** These roles found it, including `anonymous`. */
  readonly roles: readonly string[];
  /** Parameters are those of the query or form, with the application's own values. */
  readonly parameters: readonly { readonly name: string; readonly type: string; readonly value: string }[];
}

const words: JsonSchema = { type: 'string' };
const method: JsonSchema = { enum: ['GET', 'POST'] };
const many = (items: JsonSchema): JsonSchema => ({ type: 'array', items });

export const featuresArtifact = many(
  closedObject({
    name: prose,
    description: words,
    method,
    url: words,
    roles: many(words),
    parameters: many(closedObject({ name: words, type: words, value: words })),
  }),
);

/**
 * The scan_progress artifact has the two lists of section 2.4, with invented names of their
 * members.
 */
export interface ScanProgress {
  readonly completed: readonly Pair[];
  readonly skipped: readonly Pair[];
}

export const scanProgressArtifact = closedObject({
  completed: many(closedObject(pair)),
  skipped: many(closedObject(pair)),
});

/** The shape of a finding is invented. */
export interface LiveFinding {
  readonly id: string;
  readonly title: string;
  readonly severity: Severity;
  readonly cwe: string;
  readonly description: string;
  readonly recommendation: string;
  readonly feature_name: string;
  readonly perspective: Perspective;
  readonly method: Feature['method'];
  readonly url: string;
  /** The evidence is what was sent and what came back. */
  readonly evidence: string;
}

export const liveFindingsArtifact = many(
  closedObject({
    id: words,
    title: words,
    severity: { enum: severities },
    cwe: { type: 'string', pattern: '^CWE-[0-9]+$' },
    description: words,
    recommendation: words,
    ...pair,
    method,
    url: words,
    evidence: words,
  }),
);

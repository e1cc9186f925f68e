import { MIN_TARGETS } from './invented.ts';

/** JSON Schema (draft 2020-12) objects validate the wire and make up the OpenAPI document. */
export type JsonSchema = Readonly<Record<string, unknown>>;

type Properties = Readonly<Record<string, JsonSchema>>;

/**
 * The object of a request has no unknown properties (section 4). Every property is required unless
 * `required` says otherwise.
 */
export function closedObject(properties: Properties, required = Object.keys(properties)): JsonSchema {
  return { type: 'object', properties, required, additionalProperties: false };
}

/** Members can be added to an object of an answer over time (section 9.3). */
function openObject(properties: Properties, required = Object.keys(properties)): JsonSchema {
  return { type: 'object', properties, required };
}

/** See section 8. */
export const identifier: JsonSchema = { type: 'string', minLength: 1, maxLength: 256 };

export const getUploadUrlRequest = closedObject({ content_length: { type: 'integer', minimum: 1 } });

export const getUploadUrlResponse = openObject({
  file_id: identifier,
  upload_url: { type: 'string' },
  expires_in_seconds: { type: 'integer' },
});

export const fileReference = closedObject({ file_id: identifier });

export const fileResponse = openObject({ file_id: { type: 'string' } });

export const runReference = closedObject({ workflow_run_id: identifier });

export const dispatchResponse = openObject({ workflow_run_id: { type: 'string' } });

export const emptyObject = closedObject({});

export const artifactReference = closedObject({ workflow_run_id: identifier, artifact_name: identifier });

export const downloadUrlResponse = openObject({
  url: { type: 'string' },
  expires_in_seconds: { type: 'integer' },
});

export function dispatchRequest(input: JsonSchema): JsonSchema {
  const webhookEndpointIds = { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 100 };
  return closedObject({ input, notification: closedObject({ webhook_endpoint_ids: webhookEndpointIds }) }, [
    'input',
  ]);
}

/** A describe response (sections 2.3 and 2.5) of a successful run names these artifacts. */
export function describeResponse(artifacts: readonly { name: string; required: boolean }[]): JsonSchema {
  const reference = openObject({ artifact_name: { type: 'string' } });
  const successOutput = openObject(
    Object.fromEntries(artifacts.map(({ name }) => [name, reference])),
    artifacts.filter(({ required }) => required).map(({ name }) => name),
  );
  const abortedReason = openObject({ code: { type: 'string' }, detail: {} }, ['code']);
  const output = openObject({ kind: { enum: ['SUCCESS', 'ABORTED'] }, successOutput, abortedReason }, [
    'kind',
  ]);
  const description = openObject(
    {
      status: { enum: ['RUNNING', 'EXITED'] },
      output: {
        ...output,
        if: has('kind', 'SUCCESS'),
        then: lacks('abortedReason'),
        else: lacks('successOutput'),
      },
      artifacts: { type: 'array', items: openObject({ name: { type: 'string' } }) },
    },
    ['status'],
  );
  return { ...description, if: has('status', 'RUNNING'), then: lacks('output', 'artifacts') };
}

function has(name: string, value: string): JsonSchema {
  return { type: 'object', properties: { [name]: { const: value } } };
}

function lacks(...names: readonly string[]): JsonSchema {
  return { type: 'object', properties: Object.fromEntries(names.map((name) => [name, false])) };
}

/** See sections 2.6 and 2.9. */
export const language: JsonSchema = { enum: ['english', 'japanese'] };

/** See section 2.9. The minimum number of targets is invented. */
export const whiteboxInput = closedObject({
  targets: {
    type: 'array',
    minItems: MIN_TARGETS,
    items: closedObject({
      file_upload: closedObject({ file_id: identifier, archive_type: { enum: ['zip', 'tar_gz'] } }),
    }),
  },
  language,
});

/**
 * The reference shows only where the schema of findings is (section 2.4), so this one is invented.
 */
export const whiteboxFindings: JsonSchema = {
  type: 'array',
  items: closedObject({
    id: { type: 'string' },
    title: { type: 'string' },
    severity: { enum: ['critical', 'high', 'medium', 'low', 'none'] },
    cwe: { type: 'string', pattern: '^CWE-[0-9]+$' },
    description: { type: 'string' },
    recommendation: { type: 'string' },
    locations: {
      type: 'array',
      minItems: 1,
      items: closedObject({
        target_index: { type: 'integer', minimum: 0 },
        file_path: { type: 'string' },
        start_line: { type: 'integer', minimum: 1 },
        end_line: { type: 'integer', minimum: 1 },
        snippet: { type: 'string' },
      }),
    },
  }),
};

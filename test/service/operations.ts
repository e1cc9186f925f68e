import {
  artifactReference,
  describeResponse,
  dispatchRequest,
  dispatchResponse,
  downloadUrlResponse,
  emptyObject,
  fileReference,
  fileResponse,
  getUploadUrlRequest,
  getUploadUrlResponse,
  runReference,
  type JsonSchema,
} from './apiSchemas.ts';
import type { InputFiles } from './inputFiles.ts';
import type { WorkflowRuns } from './runs/workflowRuns.ts';
import type { Workflow } from './runs/workflow.ts';

/** One POST operation of section 4; `path` is relative to `/o/{orgID}`. */
export interface Operation {
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly request: JsonSchema;
  readonly response: JsonSchema;
  readonly perform: (organizationId: string, body: never) => object | Promise<object>;
}

interface FileBody {
  file_id: string;
}

interface RunBody {
  workflow_run_id: string;
}

export function inputFileOperations(files: InputFiles): Operation[] {
  return [
    {
      path: '/input-files/get-upload-url',
      operationId: 'getUploadUrl',
      summary: 'Reserves storage capacity and returns an address to upload to.',
      request: getUploadUrlRequest,
      response: getUploadUrlResponse,
      perform: (organizationId, body: { content_length: number }) =>
        files.reserve(organizationId, body.content_length),
    },
    {
      path: '/input-files/confirm-upload',
      operationId: 'confirmUpload',
      summary: 'Finalizes an uploaded file.',
      request: fileReference,
      response: fileResponse,
      perform: (organizationId, body: FileBody) => files.confirm(organizationId, body.file_id),
    },
    {
      path: '/input-files/cancel-upload',
      operationId: 'cancelUpload',
      summary: 'Aborts a pending upload and releases the reserved capacity.',
      request: fileReference,
      response: fileResponse,
      perform: (organizationId, body: FileBody) => files.cancel(organizationId, body.file_id),
    },
    {
      path: '/input-files/delete',
      operationId: 'deleteInputFile',
      summary: 'Deletes a file.',
      request: fileReference,
      response: fileResponse,
      perform: (organizationId, body: FileBody) => files.delete(organizationId, body.file_id),
    },
  ];
}

export function workflowOperations(runs: WorkflowRuns, workflow: Workflow): Operation[] {
  const path = `/workflows/${workflow.id}`;
  const operationId = (verb: string) => `${verb}:${workflow.id}`;
  return [
    {
      path: `${path}/dispatch`,
      operationId: operationId('dispatch'),
      summary: 'Starts a run and returns at once.',
      request: dispatchRequest(workflow.inputSchema),
      response: dispatchResponse,
      perform: (organizationId, body) => runs.dispatch(organizationId, workflow, body),
    },
    {
      path: `${path}/describe`,
      operationId: operationId('describe'),
      summary: 'Tells the state of a run and, once it has exited, its output and artifacts.',
      request: runReference,
      response: describeResponse(workflow.artifacts),
      perform: (organizationId, body: RunBody) =>
        runs.describe(organizationId, workflow, body.workflow_run_id),
    },
    {
      path: `${path}/cancel`,
      operationId: operationId('cancel'),
      summary: 'Asks a running run to stop.',
      request: runReference,
      response: emptyObject,
      perform: (organizationId, body: RunBody) => runs.cancel(organizationId, workflow, body.workflow_run_id),
    },
    {
      path: `${path}/get-artifact-download-url`,
      operationId: operationId('getArtifactDownloadUrl'),
      summary: 'Returns an address to download an artifact from.',
      request: artifactReference,
      response: downloadUrlResponse,
      perform: (organizationId, body: RunBody & { artifact_name: string }) =>
        runs.downloadUrl(organizationId, workflow, body.workflow_run_id, body.artifact_name),
    },
  ];
}

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** The documents of section 9.2 by path below the base address: the OpenAPI 3.1 description and the schema of every JSON artifact. */
export function documents(
  baseUrl: string,
  operations: readonly Operation[],
  workflows: readonly Workflow[],
): ReadonlyMap<string, object> {
  const artifactSchemas = workflows.flatMap((workflow) =>
    workflow.artifacts.flatMap(({ name, schema }): [string, object][] => {
      if (!schema) return [];
      const path = `/docs/workflow-artifacts/${workflow.id}/${name}.json`;
      return [[path, { $schema: DIALECT, $id: `${baseUrl}${path}`, ...schema }]];
    }),
  );
  return new Map([['/docs/openapi.json', openApi(baseUrl, operations)], ...artifactSchemas]);
}

function openApi(baseUrl: string, operations: readonly Operation[]) {
  return {
    openapi: '3.1.0',
    info: { title: 'Security Assessment Workflow API', version: 'v1' },
    jsonSchemaDialect: DIALECT,
    servers: [{ url: baseUrl }],
    security: [{ accessToken: [] }],
    components: { securitySchemes: { accessToken: { type: 'http', scheme: 'bearer' } } },
    paths: Object.fromEntries(
      operations.map((operation) => [`/o/{orgID}${operation.path}`, { post: describe(operation) }]),
    ),
  };
}

function describe({ operationId, summary, request, response }: Operation) {
  const json = (schema: JsonSchema) => ({ 'application/json': { schema } });
  return {
    operationId,
    summary,
    parameters: [{ name: 'orgID', in: 'path', required: true, schema: { type: 'string' } }],
    requestBody: { required: true, content: json(request) },
    responses: { 200: { description: 'Success.', content: json(response) } },
  };
}

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

/** Each operation is a POST (section 4). `path` is relative to `/o/{orgID}`. */
export interface Operation {
  readonly path: string;
  readonly request: JsonSchema;
  readonly response: JsonSchema;
  readonly perform: (organizationId: string, body: never) => object | Promise<object>;
}

type Body<Members extends string> = Readonly<Record<Members, string>>;

export function inputFileOperations(files: InputFiles): Operation[] {
  const reserve: Operation = {
    path: '/input-files/get-upload-url',
    request: getUploadUrlRequest,
    response: getUploadUrlResponse,
    perform: (organizationId, body: { content_length: number }) =>
      files.reserve(organizationId, body.content_length),
  };
  const move = (path: string, act: (organizationId: string, fileId: string) => object): Operation => ({
    path: `/input-files/${path}`,
    request: fileReference,
    response: fileResponse,
    perform: (organizationId, { file_id }: Body<'file_id'>) => act(organizationId, file_id),
  });
  return [
    reserve,
    move('confirm-upload', (organizationId, fileId) => files.confirm(organizationId, fileId)),
    move('cancel-upload', (organizationId, fileId) => files.cancel(organizationId, fileId)),
    move('delete', (organizationId, fileId) => files.delete(organizationId, fileId)),
  ];
}

export function workflowOperations(runs: WorkflowRuns, workflow: Workflow): Operation[] {
  const path = `/workflows/${workflow.id}`;
  type RunBody = Body<'workflow_run_id'>;
  return [
    {
      path: `${path}/dispatch`,
      request: dispatchRequest(workflow.inputSchema),
      response: dispatchResponse,
      perform: (organizationId, body) => runs.dispatch(organizationId, workflow, body),
    },
    {
      path: `${path}/describe`,
      request: runReference,
      response: describeResponse(workflow.artifacts),
      perform: (organizationId, body: RunBody) =>
        runs.describe(organizationId, workflow, body.workflow_run_id),
    },
    {
      path: `${path}/cancel`,
      request: runReference,
      response: emptyObject,
      perform: (organizationId, body: RunBody) => runs.cancel(organizationId, workflow, body.workflow_run_id),
    },
    {
      path: `${path}/get-artifact-download-url`,
      request: artifactReference,
      response: downloadUrlResponse,
      perform: (organizationId, body: Body<'workflow_run_id' | 'artifact_name'>) =>
        runs.downloadUrl(organizationId, workflow, body.workflow_run_id, body.artifact_name),
    },
  ];
}

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/**
 * Returns the documents of section 9.2 by their paths below the base URL: the OpenAPI 3.1
 * description, and the schema of every JSON artifact.
 */
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

function describe({ request, response }: Operation) {
  const json = (schema: JsonSchema) => ({ 'application/json': { schema } });
  return {
    parameters: [{ name: 'orgID', in: 'path', required: true, schema: { type: 'string' } }],
    requestBody: { required: true, content: json(request) },
    responses: { 200: { description: 'Success.', content: json(response) } },
  };
}

import {
  artifactReference,
  describeResponse,
  dispatchRequest,
  downloadUrlResponse,
  emptyObject,
  fileReference,
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
  /** Performs the operation with a body that fits `request`; throws Refusal. */
  readonly perform: (organizationId: string, body: never) => object | Promise<object>;
}

interface FileBody {
  file_id: string;
}

interface RunBody {
  workflow_run_id: string;
}

/** The operations on input files (section 4.1). */
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
      response: fileReference,
      perform: (organizationId, body: FileBody) => files.confirm(organizationId, body.file_id),
    },
    {
      path: '/input-files/cancel-upload',
      operationId: 'cancelUpload',
      summary: 'Aborts a pending upload and releases the reserved capacity.',
      request: fileReference,
      response: fileReference,
      perform: (organizationId, body: FileBody) => files.cancel(organizationId, body.file_id),
    },
    {
      path: '/input-files/delete',
      operationId: 'deleteInputFile',
      summary: 'Deletes a file.',
      request: fileReference,
      response: fileReference,
      perform: (organizationId, body: FileBody) => files.delete(organizationId, body.file_id),
    },
  ];
}

/** The four operations of one workflow (section 4.2). */
export function workflowOperations(runs: WorkflowRuns, workflow: Workflow): Operation[] {
  const path = `/workflows/${workflow.id}`;
  const operationId = (verb: string) => `${verb}:${workflow.id}`;
  return [
    {
      path: `${path}/dispatch`,
      operationId: operationId('dispatch'),
      summary: 'Starts a run and returns at once.',
      request: dispatchRequest(workflow.inputSchema),
      response: runReference,
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

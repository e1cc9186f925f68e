/**
 * `npm run check-service -- BASE_URL`: the service's own OpenAPI description and artifact schemas
 * against what we send, rely on and read; exits 1 when there is a difference. Only documents are
 * fetched; `WHITEBOX_TOKEN`, when it is set, is sent with them.
 */
import * as z from 'zod/mini';
import { toBaseUrl } from '../../src/core/api/address.ts';
import * as ours from '../../src/core/api/schema.ts';
import { findingsDifferences } from './findingsDifferences.ts';
import { type Direction, type Schema, schemaDifferences } from './schemaDifferences.ts';
import type { WorkflowId } from '../../src/core/workflows/workflow.ts';
import { workflows } from '../../src/core/workflows/workflows.ts';

const features = z.array(z.looseObject({ name: z.string() }));
const pairs = z.array(z.looseObject({}));
const scanProgress = z.looseObject({ completed: pairs, skipped: pairs });

/**
 * Each workflow has these JSON artifacts beside its findings. The API reference promises this of
 * them (section 2.4).
 */
const artifacts: Readonly<Record<WorkflowId, Readonly<Record<string, z.ZodMiniType>>>> = {
  'blackbox-assessment': { features, scan_progress: scanProgress },
  'blackbox-crawl': { features },
  'whitebox-assessment': {},
};

/** We send this to an operation, and take this from it (docs/api.md, section 4). */
type Operation = Readonly<Partial<Record<Direction, z.ZodMiniType>>>;
const file: Operation = { request: ours.fileRequestSchema, response: ours.fileResponseSchema };
const operations: Readonly<Record<string, Operation>> = {
  'input-files/get-upload-url': {
    request: ours.getUploadUrlRequestSchema,
    response: ours.uploadUrlSchema,
  },
  'input-files/confirm-upload': file,
  'input-files/cancel-upload': file,
  'input-files/delete': file,
  ...Object.fromEntries(
    Object.values(workflows).flatMap(({ id: workflow, request }) =>
      Object.entries(workflowOperations(request)).map(([verb, own]) => [
        `workflows/${workflow}/${verb}`,
        own,
      ]),
    ),
  ),
};

function workflowOperations(request: z.ZodMiniType): Readonly<Record<string, Operation>> {
  return {
    dispatch: { request, response: ours.dispatchResponseSchema },
    describe: { request: ours.runRequestSchema, response: ours.toDescriptionSchema(() => []) },
    cancel: { request: ours.runRequestSchema, response: ours.emptySchema },
    'get-artifact-download-url': { request: ours.artifactRequestSchema, response: ours.downloadUrlSchema },
  };
}

const [address] = process.argv.slice(2);
if (address === undefined) {
  console.error('usage: npm run check-service -- BASE_URL');
  process.exit(2);
}
try {
  const baseUrl = toBaseUrl(address);
  const api = await read(`${baseUrl}/docs/openapi.json`);
  const artifact = (path: string): Promise<Schema> => read(`${baseUrl}/docs/workflow-artifacts/${path}.json`);
  const whitebox = findingsDifferences(await artifact('whitebox-assessment/findings'));
  // A live finding has no location in a file.
  const live = findingsDifferences(await artifact('blackbox-assessment/findings'), [
    'title',
    'severity',
    'description',
  ]);
  const others: string[] = [];
  for (const [workflow, schemas] of Object.entries(artifacts)) {
    for (const [name, own] of Object.entries(schemas)) {
      const found = differencesOf(own, await artifact(`${workflow}/${name}`), 'response', () => undefined);
      others.push(...found.map((difference) => `${workflow}/${name}: ${difference}`));
    }
  }
  const count =
    print('Operations', apiDifferences(api)) +
    print('Findings', [...whitebox.unread, ...whitebox.differences]) +
    print('Findings of a live application', live.differences) +
    print('Features and progress', others);
  console.log(`Properties of findings that are read: ${String(whitebox.read.length)}`);
  for (const property of whitebox.read) console.log(`  ${property}`);
  // This is no difference: a live finding is shown with all its fields.
  console.log(
    `Properties of live findings that are shown among the other fields: ${String(live.unread.length)}`,
  );
  for (const property of live.unread) console.log(`  ${property}`);
  process.exitCode = count === 0 ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 2;
}

async function read(url: string): Promise<Schema> {
  const token = process.env['WHITEBOX_TOKEN'];
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(url, { headers, redirect: 'error' }).catch((error: unknown) => {
    throw new Error(`${url} cannot be reached`, { cause: error });
  });
  if (!response.ok) throw new Error(`${url} answers ${String(response.status)}`);
  return (await response.json()) as Schema;
}

function apiDifferences(api: Schema): string[] {
  const paths = api['paths'] as Record<string, { post?: Schema }> | undefined;
  const resolve = (reference: string): Schema | undefined => at(api, reference.replace(/^#/, ''));
  return Object.entries(operations).flatMap(([operationPath, own]) => {
    const path = `/o/{orgID}/${operationPath}`;
    const operation = Object.entries(paths ?? {}).find(([theirs]) => sameShape(theirs, path))?.[1].post;
    if (operation === undefined) return [`POST ${path}: not there`];
    const theirs: Record<Direction, Schema | undefined> = {
      request: at(operation, '/requestBody/content/application~1json/schema'),
      response: at(operation, '/responses/200/content/application~1json/schema'),
    };
    return (['request', 'response'] as const).flatMap((direction) => {
      const [mine, schema] = [own[direction], theirs[direction]];
      if (schema === undefined) return [`POST ${path}: its ${direction} is not described`];
      const found = mine ? differencesOf(mine, schema, direction, resolve) : [];
      return found.map((difference) => `POST ${path}, ${direction}, ${difference}`);
    });
  });
}

function differencesOf(
  own: z.ZodMiniType,
  theirs: Schema,
  direction: Direction,
  resolve: (reference: string) => Schema | undefined,
): string[] {
  return schemaDifferences(z.toJSONSchema(own, { io: 'input' }), theirs, { direction, resolve });
}

/** Paths may differ in parameter names and in a prefix. */
function sameShape(theirs: string, path: string): boolean {
  const shape = (text: string): string => text.replaceAll(/\{[^}]*\}/g, '{}');
  return shape(theirs).endsWith(shape(path));
}

function at(value: unknown, pointer: string): Schema | undefined {
  const keys = pointer.split('/').slice(1);
  const step = (inner: unknown, key: string): unknown =>
    (inner as Record<string, unknown> | undefined)?.[key.replaceAll('~1', '/').replaceAll('~0', '~')];
  return keys.reduce(step, value) as Schema | undefined;
}

function print(title: string, differences: readonly string[]): number {
  console.log(`${title}: ${String(differences.length)} differences`);
  for (const difference of differences) console.log(`  ${difference}`);
  return differences.length;
}

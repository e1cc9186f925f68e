/**
 * `npm run check-service -- BASE_URL`: the service's own OpenAPI description and findings schema against what we send, rely on and read; exits 1
 * when there is a difference. Only documents are fetched; `WHITEBOX_TOKEN`, when it is set, is sent with them.
 */
import * as z from 'zod/mini';
import { toBaseUrl } from '../../src/core/api/address.ts';
import * as ours from '../../src/core/api/schema.ts';
import { findingsDifferences } from './findingsDifferences.ts';
import { type Direction, type Schema, schemaDifferences } from './schemaDifferences.ts';

const files = '/o/{orgID}/input-files';
const runs = '/o/{orgID}/workflows/whitebox-assessment';

/** What we send to and take from each operation (API reference, section 4). */
const operations: Readonly<Record<string, Readonly<Record<Direction, z.ZodMiniType>>>> = {
  [`${files}/get-upload-url`]: { request: ours.getUploadUrlRequestSchema, response: ours.uploadUrlSchema },
  [`${files}/confirm-upload`]: { request: ours.fileRequestSchema, response: ours.fileResponseSchema },
  [`${files}/cancel-upload`]: { request: ours.fileRequestSchema, response: ours.fileResponseSchema },
  [`${files}/delete`]: { request: ours.fileRequestSchema, response: ours.fileResponseSchema },
  [`${runs}/dispatch`]: {
    request: ours.whiteboxDispatchRequestSchema,
    response: ours.dispatchResponseSchema,
  },
  [`${runs}/describe`]: { request: ours.runRequestSchema, response: ours.toDescriptionSchema(() => []) },
  [`${runs}/cancel`]: { request: ours.runRequestSchema, response: ours.emptySchema },
  [`${runs}/get-artifact-download-url`]: {
    request: ours.artifactRequestSchema,
    response: ours.downloadUrlSchema,
  },
};

const [address] = process.argv.slice(2);
if (address === undefined) {
  console.error('usage: npm run check-service -- BASE_URL');
  process.exit(2);
}
try {
  const baseUrl = toBaseUrl(address);
  const api = await read(`${baseUrl}/docs/openapi.json`);
  const findings = await read(`${baseUrl}/docs/workflow-artifacts/whitebox-assessment/findings.json`);
  const { read: properties, differences } = findingsDifferences(findings);
  const count = print('Operations', apiDifferences(api)) + print('Findings', differences);
  console.log(`Properties of findings that are read: ${String(properties.length)}`);
  for (const property of properties) console.log(`  ${property}`);
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
  return Object.entries(operations).flatMap(([path, own]) => {
    const operation = Object.entries(paths ?? {}).find(([theirs]) => sameShape(theirs, path))?.[1].post;
    if (operation === undefined) return [`POST ${path}: not there`];
    const theirs: Record<Direction, Schema | undefined> = {
      request: at(operation, '/requestBody/content/application~1json/schema'),
      response: at(operation, '/responses/200/content/application~1json/schema'),
    };
    return (['request', 'response'] as const).flatMap((direction) => {
      const schema = theirs[direction];
      if (schema === undefined) return [`POST ${path}: its ${direction} is not described`];
      const mine = z.toJSONSchema(own[direction], { io: 'input' }) as Schema;
      const found = schemaDifferences(mine, schema, { direction, resolve });
      return found.map((difference) => `POST ${path}, ${direction}, ${difference}`);
    });
  });
}

/** Whether two paths differ in the names of their parameters at most, or one carries the prefix of the base address. */
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

import type { JsonSchema } from './apiSchemas.ts';
import type { Operation } from './operations.ts';
import type { Workflow } from './runs/workflow.ts';

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

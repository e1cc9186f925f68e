export type Schema = Readonly<Record<string, unknown>>;

export type Direction = 'request' | 'response';

interface Scope {
  readonly direction: Direction;
  readonly resolve: (reference: string) => Schema | undefined;
}

/** Describes mismatches between a service's schema and ours as sentences. */
export function schemaDifferences(ours: Schema, theirs: Schema, scope: Scope, at = ''): string[] {
  const other = resolved(theirs, scope);
  const [own, alternatives] = [alternativesOf(ours), alternativesOf(other)];
  // Each alternative that we may send must be taken.
  if (own !== undefined) {
    const answers = own.map((each) => schemaDifferences(each, other, scope, at));
    return scope.direction === 'request' ? answers.flat() : fewest(answers);
  }
  if (alternatives !== undefined) {
    const answers = alternatives.map((each) => schemaDifferences(ours, each, scope, at));
    return fewest(answers);
  }
  const location = at === '' ? 'body' : at;
  const types = typeDifferences(ours, other, scope, location);
  if (types.length > 0) return types;
  return [
    ...boundDifferences(ours, other, scope, location),
    ...propertyDifferences(ours, other, scope, location),
    ...itemDifferences(ours, other, scope, location),
  ];
}

function alternativesOf(schema: Schema): readonly Schema[] | undefined {
  return (schema['anyOf'] ?? schema['oneOf']) as Schema[] | undefined;
}

function fewest(answers: readonly string[][]): string[] {
  return answers.toSorted((one, other) => one.length - other.length)[0] ?? [];
}

function resolved(schema: Schema, scope: Scope): Schema {
  const reference = schema['$ref'];
  const target = typeof reference === 'string' ? (scope.resolve(reference) ?? {}) : schema;
  const parts = (target['allOf'] as Schema[] | undefined) ?? [];
  return parts.reduce<Schema>((merged, part) => merge(merged, resolved(part, scope)), target);
}

function merge(one: Schema, other: Schema): Schema {
  return {
    ...one,
    ...other,
    properties: { ...propertiesOf(one), ...propertiesOf(other) },
    required: [...requiredOf(one), ...requiredOf(other)],
  };
}

function typeDifferences(ours: Schema, theirs: Schema, { direction }: Scope, location: string): string[] {
  const [own, other] = [typesOf(ours), typesOf(theirs)];
  const [given, taken] = direction === 'request' ? [own, other] : [other, own];
  // `integer` is a `number`; a schema without a type takes anything.
  const fits = (type: string): boolean =>
    taken.size === 0 || taken.has(type) || (type === 'integer' && taken.has('number'));
  const odd = [...given].filter((type) => !fits(type));
  if (given.size === 0 || odd.length === 0) return [];
  return [`${location}: ours is ${[...own].join('|')}, theirs ${[...other].join('|')}`];
}

/**
 * Finds bounds that are tighter on the receiving side. A service without bounds on what it sends is
 * trusted.
 */
function boundDifferences(ours: Schema, theirs: Schema, { direction }: Scope, location: string): string[] {
  const isRequest = direction === 'request';
  const [given, taken] = isRequest ? [ours, theirs] : [theirs, ours];
  const who = isRequest ? 'we may send' : 'they may send';
  const found: string[] = [];
  for (const [lower, upper] of bounds) {
    const [low, most] = [taken[lower], taken[upper]];
    const least = asNumber(given[lower], isRequest ? lowest(lower) : Infinity);
    if (typeof low === 'number' && low > least)
      found.push(`${location}: ${who} less than ${lower} ${String(low)}`);
    const highest = asNumber(given[upper], isRequest ? Infinity : -Infinity);
    if (typeof most === 'number' && most < highest)
      found.push(`${location}: ${who} more than ${upper} ${String(most)}`);
  }
  const [words, known] = [valuesOf(given), valuesOf(taken)];
  const unknown = words?.filter((word) => known?.includes(word) === false) ?? [];
  if (unknown.length > 0) found.push(`${location}: ${who} ${unknown.join(', ')}`);
  return found;
}

const bounds = [
  ['minLength', 'maxLength'],
  ['minimum', 'maximum'],
  ['minItems', 'maxItems'],
] as const;

/** A string or list is never shorter than empty, a number may be anything. */
function lowest(bound: string): number {
  return bound === 'minimum' ? -Infinity : 0;
}

function propertyDifferences(ours: Schema, theirs: Schema, scope: Scope, location: string): string[] {
  const [own, other] = [propertiesOf(ours), propertiesOf(theirs)];
  const rest = ours['additionalProperties'];
  const found = Object.entries(other).flatMap(([name, schema]) => {
    const mine = own[name] ?? (isSchema(rest) ? rest : undefined);
    if (mine !== undefined) return schemaDifferences(mine, schema, scope, `${location}.${name}`);
    return scope.direction === 'response' ? [`${location}.${name}: theirs alone, not used here`] : [];
  });
  const [needed, given] = scope.direction === 'request' ? [theirs, ours] : [ours, theirs];
  const who = scope.direction === 'request' ? 'they need it' : 'we need it';
  for (const name of requiredOf(needed)) {
    if (!requiredOf(given).includes(name)) found.push(`${location}.${name}: ${who}, it may be missing`);
  }
  if (scope.direction === 'request' && theirs['additionalProperties'] === false) {
    const refused = Object.keys(own).filter((name) => !(name in other));
    found.push(...refused.map((name) => `${location}.${name}: we may send it, they refuse it`));
  }
  return found;
}

function itemDifferences(ours: Schema, theirs: Schema, scope: Scope, location: string): string[] {
  const [own, other] = [ours['items'], theirs['items']];
  return isSchema(own) && isSchema(other) ? schemaDifferences(own, other, scope, `${location}[]`) : [];
}

function typesOf(schema: Schema): ReadonlySet<string> {
  const type = schema['type'];
  if (type !== undefined) return new Set([type].flat() as string[]);
  return new Set((valuesOf(schema) ?? []).map((value) => typeof value));
}

function valuesOf(schema: Schema): unknown[] | undefined {
  return 'const' in schema ? [schema['const']] : (schema['enum'] as unknown[] | undefined);
}

export function propertiesOf(schema: Schema): Readonly<Record<string, Schema>> {
  return (schema['properties'] as Record<string, Schema> | undefined) ?? {};
}

function requiredOf(schema: Schema): readonly string[] {
  return (schema['required'] as string[] | undefined) ?? [];
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null;
}

function asNumber(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}

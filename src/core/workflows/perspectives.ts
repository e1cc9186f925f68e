/** docs/api.md, section 2.7. */
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

const perspectiveOfCwe: ReadonlyMap<number, Perspective> = new Map([
  [89, 'Injection'],
  [79, 'XSS'],
  [352, 'CSRF'],
  [22, 'FileSystem'],
  [601, 'OpenRedirect'],
  [918, 'SSRF'],
  [287, 'Authentication'],
  [862, 'Authorization'],
  [639, 'Authorization'],
  [1021, 'Clickjacking'],
  [942, 'CORS'],
]);

export function perspectiveOf(cwes: readonly number[]): Perspective | undefined {
  return cwes.map((cwe) => perspectiveOfCwe.get(cwe)).find((perspective) => perspective !== undefined);
}

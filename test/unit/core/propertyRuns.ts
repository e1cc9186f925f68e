const maxUsual = 100;

/**
 * The number of cases of a property: few by default, FUZZ_RUNS under `npm run fuzz`, at most
 * `most`.
 */
export function propertyRuns(usual: number, most = Infinity): number {
  const wanted = process.env['FUZZ_RUNS'];
  return wanted === undefined ? Math.min(usual, maxUsual) : Math.min(Number(wanted), most);
}

const maxUsual = 100;

/** A property has few cases by default, and FUZZ_RUNS under `npm run fuzz`, at most `most`. */
export function propertyRuns(usual: number, most = Infinity): number {
  const wanted = process.env['FUZZ_RUNS'];
  return wanted === undefined ? Math.min(usual, maxUsual) : Math.min(Number(wanted), most);
}

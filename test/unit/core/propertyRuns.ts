/** How many cases a property is tried with: few by default; under `npm run fuzz`, which sets FUZZ_RUNS, so many, and at most as many as take minutes. */
export function propertyRuns(usual: number, most = Infinity): number {
  const wanted = process.env['FUZZ_RUNS'];
  return wanted === undefined ? usual : Math.min(Number(wanted), most);
}

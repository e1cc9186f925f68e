/** Milliseconds of processor time that this process has used, all threads: unlike the clock on the wall, it does not run while others work. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Processor time between two turns of the event loop while something is under way, the longest last: a machine that is busy with other tests does not count. */
export async function pausesWhile(work: Promise<unknown>): Promise<readonly number[]> {
  const pausesMs: number[] = [];
  let isWorking = true;
  let before = process.threadCpuUsage();
  const turn = (): void => {
    const { user, system } = process.threadCpuUsage(before);
    pausesMs.push((user + system) / 1000);
    before = process.threadCpuUsage();
    if (isWorking) setImmediate(turn);
  };
  setImmediate(turn);
  await work;
  isWorking = false;
  return pausesMs.sort((one, other) => one - other);
}

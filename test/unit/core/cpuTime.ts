/** Milliseconds of processor time that this process has used, all threads: unlike the clock on the wall, it does not run while others work. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** What work comes to, and the processor time between two turns of the event loop from its start to its end, the longest last: a machine that is busy with other tests does not count. */
export async function pausesWhile<T>(
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly pausesMs: readonly number[] }> {
  const pausesMs: number[] = [];
  let isWorking = true;
  let before = process.threadCpuUsage();
  const pause = (): void => {
    const { user, system } = process.threadCpuUsage(before);
    pausesMs.push((user + system) / 1000);
    before = process.threadCpuUsage();
  };
  const turn = (): void => {
    if (!isWorking) return;
    pause();
    setImmediate(turn);
  };
  setImmediate(turn);
  const result = await work();
  isWorking = false;
  pause();
  return { result, pausesMs: pausesMs.sort((one, other) => one - other) };
}

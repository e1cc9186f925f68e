/**
 * Counts the processor time of all threads of this process in milliseconds, independent of other
 * load.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/**
 * Returns the result of the work, and the sorted processor times between turns of the event loop,
 * independent of other load.
 */
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

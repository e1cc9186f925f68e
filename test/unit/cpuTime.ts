/** Milliseconds of processor time that this process has used, all threads: unlike the clock on the wall, it does not run while others work. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

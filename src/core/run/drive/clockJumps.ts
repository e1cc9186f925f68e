import type { Clock } from '../../ports.ts';

/** More than this between two looks, or between the two clocks, means that the machine slept or a clock was set. */
const jumpMs = 30_000;

/** A look at the clocks: true if they have jumped since the look before. */
export function watchClocks(clock: Clock): () => boolean {
  let [wall, monotonic] = [clock.now(), clock.monotonic()];
  return () => {
    const passed = clock.monotonic() - monotonic;
    const haveJumped = passed > jumpMs || Math.abs(clock.now() - wall - passed) > jumpMs;
    [wall, monotonic] = [clock.now(), clock.monotonic()];
    return haveJumped;
  };
}

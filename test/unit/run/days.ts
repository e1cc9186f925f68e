import type { Desk } from './runWindow.ts';

/** A minute. */
export const minuteMs = 60_000;
/** A day. */
export const dayMs = 24 * 3600_000;

/** Sleeps for so long, a heartbeat at a time: somebody else lets the time pass. */
export async function sleepOn({ clock }: Desk, ms: number): Promise<void> {
  const until = clock.now() + ms;
  while (clock.now() < until) await clock.sleep(5_000);
}

/** Lets time pass in heartbeats. */
export async function pass(desk: Desk, ms: number): Promise<void> {
  await desk.clock.passUntil(sleepOn(desk, ms), desk.traffic);
}

/** Lets days pass in one leap, as while the machine sleeps, and then a minute of heartbeats. */
export async function leap(desk: Desk, ms: number): Promise<void> {
  await desk.clock.whenAsleep();
  desk.clock.advance(ms);
  await pass(desk, minuteMs);
}

import type { Desk } from './runWindow.ts';

/** A day. */
export const dayMs = 24 * 3600_000;

/** Lets time pass in heartbeats. */
export async function pass(desk: Desk, ms: number): Promise<void> {
  const until = desk.clock.now() + ms;
  await desk.clock.passUntil(
    (async () => {
      while (desk.clock.now() < until) await desk.clock.sleep(5_000);
    })(),
    desk.traffic,
  );
}

/** Lets days pass in one leap, as while the machine sleeps, and then a minute of heartbeats. */
export async function leap(desk: Desk, ms: number): Promise<void> {
  await desk.clock.whenAsleep();
  desk.clock.advance(ms);
  await pass(desk, 60_000);
}

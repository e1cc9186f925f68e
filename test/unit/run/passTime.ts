import type { Fixture } from './runWindow.ts';

export const minuteMs = 60_000;
export const dayMs = 24 * 3600_000;

/** Lets time pass in heartbeats, until all that is due by then is done. */
export async function pass({ clock, traffic, passUntil }: Fixture, ms: number): Promise<void> {
  const until = clock.now() + ms;
  while (clock.now() < until) await passUntil(clock.sleep(5_000));
  await clock.rest(traffic);
}

/** Like `pass`, with a fifth of the heartbeats: the longest steps that do not count as sleep. */
export async function stride(fixture: Fixture, ms: number): Promise<void> {
  const until = fixture.clock.now() + ms;
  while (fixture.clock.now() < until) {
    fixture.clock.advance(20_000);
    await pass(fixture, 5_000);
  }
}

/** Advances the time at once, as after sleep, then by a minute of heartbeats. */
export async function leap(fixture: Fixture, ms: number): Promise<void> {
  await fixture.clock.whenAsleep();
  fixture.clock.advance(ms);
  await pass(fixture, minuteMs);
}

/** Lets waking hours pass in steps with a heartbeat after each. */
export async function stayAwake(fixture: Fixture, hours: number, stepMinutes = 30): Promise<void> {
  for (let step = 0; step < (60 * hours) / stepMinutes; step += 1) {
    fixture.clock.advance(stepMinutes * minuteMs - 5_000);
    await pass(fixture, 5_000);
  }
}

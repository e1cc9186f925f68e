import type { Fixture } from './runWindow.ts';

export const minuteMs = 60_000;
export const dayMs = 24 * 3600_000;

/** Sleeps for so long, a heartbeat at a time: somebody else lets the time pass. */
export async function sleepOn({ clock }: Fixture, ms: number): Promise<void> {
  const until = clock.now() + ms;
  while (clock.now() < until) await clock.sleep(5_000);
}

/** Lets time pass in heartbeats. */
export async function pass(fixture: Fixture, ms: number): Promise<void> {
  await fixture.passUntil(sleepOn(fixture, ms));
}

/** Lets time pass in the longest steps that are no sleep, with a heartbeat in each: a fifth of the heartbeats of `pass`. */
export async function stride(fixture: Fixture, ms: number): Promise<void> {
  const until = fixture.clock.now() + ms;
  while (fixture.clock.now() < until) {
    fixture.clock.advance(20_000);
    await pass(fixture, 5_000);
  }
}

/** Lets days pass in one leap, as while the machine sleeps, and then a minute of heartbeats. */
export async function leap(fixture: Fixture, ms: number): Promise<void> {
  await fixture.clock.whenAsleep();
  fixture.clock.advance(ms);
  await pass(fixture, minuteMs);
}

/** Lets hours pass in which the machine is awake, in steps of half an hour, or as many minutes as said, with a heartbeat after each. */
export async function stayAwake(fixture: Fixture, hours: number, stepMinutes = 30): Promise<void> {
  for (let step = 0; step < (60 * hours) / stepMinutes; step += 1) {
    fixture.clock.advance(stepMinutes * minuteMs - 5_000);
    await pass(fixture, 5_000);
    // What a heartbeat does belongs to the time of the heartbeat, not to that after the next step.
    await fixture.clock.rest(fixture.traffic);
  }
}

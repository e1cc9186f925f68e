import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';

/** A test that ended in Windows is one line of JSON. */
export interface EndedTest {
  readonly name: string;
  readonly file: string | undefined;
  readonly ms: number;
  readonly skip?: string | boolean | undefined;
  /** Only a failed test has this. */
  readonly error?: string | undefined;
}

export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if ((type !== 'test:pass' && type !== 'test:fail') || data.details.type === 'suite') continue;
    const { name, file, skip } = data;
    const error = type === 'test:fail' ? inspect(data.details.error.cause) : undefined;
    const ms = data.details.duration_ms;
    yield `${JSON.stringify({ name, file, ms, skip, error } satisfies EndedTest)}\n`;
  }
}

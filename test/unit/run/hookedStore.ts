import type { RunEvent } from '../../../src/core/run/state/advance.ts';
import type { Run } from '../../../src/core/run/state/run.ts';
import { RunStore } from '../../../src/core/run/disk/runStore.ts';
import type { WindowOptions } from './runWindow.ts';

type MakeStore = NonNullable<WindowOptions['store']>;
/** It is called before an event is saved. If it throws, the event isn't saved. */
type BeforeNote = (event: RunEvent) => Promise<void> | void;

class HookedStore extends RunStore {
  readonly #before: BeforeNote;

  constructor(before: BeforeNote, ...rest: ConstructorParameters<typeof RunStore>) {
    super(...rest);
    this.#before = before;
  }

  override async apply(id: string, event: RunEvent): Promise<Run> {
    await this.#before(event);
    return super.apply(id, event);
  }

  override async applyIfDue(id: string, event: RunEvent): Promise<Run | undefined> {
    await this.#before(event);
    return super.applyIfDue(id, event);
  }
}

/** The store calls `before` before each event is saved. */
export function storeWithHook(before: BeforeNote): MakeStore {
  return (root, deps) => new HookedStore(before, root, deps);
}

/** The disk is full for events of this type, some times or always. */
export function storeWithoutSpaceFor(type: RunEvent['type'], times = Infinity): MakeStore {
  let refusals = times;
  return storeWithHook((event) => {
    if (event.type === type && refusals-- > 0)
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  });
}

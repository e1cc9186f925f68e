/** The first visible section, and how many pixels of it were scrolled past. */
export interface Position {
  readonly section: number;
  readonly offsetPx: number;
}

/** Sections that come on screen get their real height one frame later. */
const settlingFrames = 3;

/** Where the reader is. */
export function findPosition(sections: readonly HTMLElement[]): Position {
  let low = 0;
  let high = sections.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sections[middle]?.getBoundingClientRect().bottom ?? 0) > 0) high = middle;
    else low = middle + 1;
  }
  return { section: low, offsetPx: -(sections[low]?.getBoundingClientRect().top ?? 0) };
}

/** Keeps a position on the screen while sections around it change their height, until the reader takes over. */
export function holdPosition(
  sections: readonly HTMLElement[],
  { section, offsetPx }: Position,
  isComplete: () => boolean,
  signal: AbortSignal,
): void {
  const released = new AbortController();
  const release = (): void => released.abort();
  signal.addEventListener('abort', release, { once: true });
  for (const type of ['wheel', 'pointerdown', 'keydown']) {
    window.addEventListener(type, release, { signal: released.signal, passive: true });
  }
  // Scrolled past by more than its estimated height, it would be left out, and never get its real one.
  sections[section]?.style.setProperty('content-visibility', 'visible');
  let framesLeft = settlingFrames;
  const hold = (): void => {
    if (released.signal.aborted) return;
    const top = sections[section]?.getBoundingClientRect().top ?? 0;
    if (Math.abs(top + offsetPx) >= 1) scrollBy(0, top + offsetPx);
    if (isComplete() && framesLeft-- === 0) release();
    else requestAnimationFrame(hold);
  };
  hold();
}

/** Frees memory that nobody needs any more at once: left to the garbage collector, which hardly counts what lies outside its heap, much of it piles up. */
export function freeMemory({ buffer }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}

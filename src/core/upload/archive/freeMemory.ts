/** Frees memory that nobody needs any more at once: left to the garbage collector, which hardly counts what lies outside its heap, much of it piles up. */
export function freeMemory({ buffer, byteLength }: Uint8Array): void {
  // What is only a part of its buffer shares it with others.
  if (buffer instanceof ArrayBuffer && byteLength > 0 && byteLength === buffer.byteLength) buffer.transfer(0);
}

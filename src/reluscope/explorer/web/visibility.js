// Browsers have few drawing surfaces: one that has been out of sight for a while is given back, and taken again in time.

const PATIENCE = 4000; // milliseconds

/**
 * Call functions when an element has been out of sight for a while, and when it comes back.
 * @param {Element} element
 * @returns {() => void} stops watching
 */
export function watchVisibility(element, { onhide, onshow }) {
  let timer = 0;
  let isHidden = false;
  const observer = new IntersectionObserver((entries) => {
    clearTimeout(timer);
    if (entries[entries.length - 1].isIntersecting) {
      if (isHidden) onshow();
      isHidden = false;
    } else if (!isHidden) {
      timer = setTimeout(() => {
        isHidden = true;
        onhide();
      }, PATIENCE);
    }
  }, { rootMargin: "200px" });
  observer.observe(element);
  return () => {
    clearTimeout(timer);
    observer.disconnect();
  };
}

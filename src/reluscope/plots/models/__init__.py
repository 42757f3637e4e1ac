"""Pictures that compare models, or follow one through a training."""

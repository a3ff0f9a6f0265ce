"""Stage question_index: points, and the engines that hold them."""
